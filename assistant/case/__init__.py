"""The Case: everything known about one job, as frozen models that survive the logs themselves."""

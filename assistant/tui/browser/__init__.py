"""The workplace in a web browser: a server on loopback that starts one `rootrank chat` for each tab."""

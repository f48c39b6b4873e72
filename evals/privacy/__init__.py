"""Whether secrets are masked, ordinary lines left alone, and hostile text changes nothing."""

"""From lines to a table of events: join records, mask, deduplicate, mine templates."""

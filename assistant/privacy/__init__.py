"""Redaction with reversible pseudonyms: nothing leaves the machine before it went through here."""

"""The fault library: known signatures as data, matched on raw records in one pass."""

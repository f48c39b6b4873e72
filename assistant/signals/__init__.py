"""Facts from something other than log patterns: one module a source, all handing on `Signal`s."""

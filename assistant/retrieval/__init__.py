"""Search over knowledge and incidents: codes and signatures first, then words and vectors. A rebuildable cache."""

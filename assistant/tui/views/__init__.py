"""The case on the screen: verdict, suspects, heat map, nodes, timeline, actions."""

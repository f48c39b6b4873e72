// The terminal takes the keys without a click first, and again when the window comes back.
const keys = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("load", keys);
window.addEventListener("focus", keys);

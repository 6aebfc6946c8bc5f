// Before the first paint: the theme that was chosen, else the system's.
"use strict";
const chosenTheme = localStorage.getItem("theme");
if (chosenTheme) document.documentElement.dataset.theme = chosenTheme;

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filtering and copying in the HTML report, which works without. */
"use strict";
(function () {
	document.documentElement.classList.add("js");

	var races = Array.prototype.slice.call(
		document.querySelectorAll("details.race"));
	var search = document.getElementById("search");
	var shown = document.getElementById("shown");
	var boxes = Array.prototype.slice.call(
		document.querySelectorAll(".filter input[type=checkbox]"));

	function wanted(race, words) {
		var text = race.textContent.toLowerCase();

		return boxes.every(function (box) {
			return box.checked || !race.classList.contains(box.value);
		}) && words.every(function (word) {
			return text.indexOf(word) >= 0;
		});
	}

	function filter() {
		var words = search.value.toLowerCase().split(/\s+/);
		var count = 0;

		races.forEach(function (race) {
			race.hidden = !wanted(race, words);
			count += !race.hidden;
		});
		shown.textContent = count + " of " + races.length + " shown";
	}

	function copy(button) {
		var from = document.getElementById(button.dataset.copy);
		var range = document.createRange();
		var selection = getSelection();

		function done() {
			button.textContent = "copied";
			setTimeout(function () {
				button.textContent = "copy";
			}, 1500);
		}
		if (navigator.clipboard && isSecureContext) {
			navigator.clipboard.writeText(from.textContent)
				.then(done, function () {});
			return;
		}
		range.selectNodeContents(from);
		selection.removeAllRanges();
		selection.addRange(range);
		if (document.execCommand("copy"))
			done();
	}

	function open(all) {
		races.forEach(function (race) {
			race.open = all;
		});
	}

	/* A link to a race opens it. */
	function target() {
		var race = location.hash.length > 1 &&
			document.getElementById(location.hash.slice(1));

		if (race && race.tagName === "DETAILS") {
			race.hidden = false;
			race.open = true;
			race.scrollIntoView();
		}
	}

	document.addEventListener("click", function (event) {
		var button = event.target.closest("button");

		if (!button)
			return;
		if (button.dataset.copy)
			copy(button);
		else if (button.dataset.open)
			open(button.dataset.open === "yes");
	});
	if (search) {
		search.addEventListener("input", filter);
		boxes.forEach(function (box) {
			box.addEventListener("change", filter);
		});
		filter();
	}
	addEventListener("hashchange", target);
	target();
})();

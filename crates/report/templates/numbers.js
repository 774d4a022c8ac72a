// What all parts of the page's script need: elements, and numbers as people write them.
"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const number = (value, digits = 3) => value.toLocaleString("en-US", { maximumSignificantDigits: digits });
const scaled = (value, units) => {
  const [size, name] = units.find(([size]) => value >= size) ?? units.at(-1);
  return `${number(value / size)} ${name}`;
};
const LATENCY = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const time = (seconds) => {
  const two = (part) => String(Math.floor(part)).padStart(2, "0");
  if (seconds < 120) return `${number(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(seconds / 60 % 60)} min`;
};
// The unit of a value is in the name of its quantity, as in the CSV files.
const say = (value, quantity) => {
  if (/, ns$|^ns /.test(quantity)) return value > 0 ? scaled(value, LATENCY) : "0";
  if (/^seconds/.test(quantity)) return time(Math.max(0, value));
  if (/bytes/.test(quantity)) return scaled(value, BYTES);
  if (/%/.test(quantity)) return `${number(value)} %`;
  return `${number(value)} ${quantity}`;
};

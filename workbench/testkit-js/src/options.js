/**
 * Refuse options that a function does not have: a misspelt one would be ignored, and a test would pass.
 * @param {string} name of the function
 * @param {object} given
 * @param {string[]} known
 * @throws {TypeError}
 */
export function refuseOthers(name, given, known) {
  const other = Object.keys(given).find((each) => !known.includes(each));
  if (other !== undefined) throw new TypeError(`${name} has no option ${other}: it has ${known.join(", ")}`);
}

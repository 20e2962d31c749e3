/**
 * Refuse options that a function does not have: a misspelt one would be ignored, and a test would pass.
 * @param {string} name of the function
 * @param {object} given
 * @param {string[]} known
 * @throws {TypeError}
 */
export function refuseOthers(name: string, given: object, known: string[]): void;

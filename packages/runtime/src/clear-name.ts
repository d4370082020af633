/* Names of people and applications that nobody can take for another one: Unicode Technical Standard 39, sections 3 and 5. */

/** Scripts in use today (Unicode Standard Annex 31, table 5). */
const SCRIPTS =
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao Latin Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan';
/** Scripts that are written together. */
const TOGETHER = [
  'Latin Han Hiragana Katakana',
  'Latin Han Bopomofo',
  'Latin Han Hangul',
  ...SCRIPTS.split(' '),
];
const ONE_SCRIPT = TOGETHER.map((scripts) => {
  const letters = scripts.split(' ').map((script) => `\\p{scx=${script}}`);
  return new RegExp(`^[\\p{sc=Common}\\p{sc=Inherited}${letters.join('')}]*$`, 'u');
});

/** Controls, marks of direction, zero width, fillers that look like a space, and every space but the usual one. */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * What of a name a reader cannot see, or would take for something else, as words for behind "takes no" or "a name with";
 * null: it is clear. Letters that look alike are not compared: a name has those of one script, or of those that
 * are written together.
 */
export function findUnclear(name: string): string | null {
  const [invisible] = INVISIBLE.exec(name) ?? [];
  if (invisible !== undefined) return `invisible character (${toCode(invisible)})`;
  if (/^ | $| {2}/.test(name)) return 'space at an end or beside another space';
  if (/^\p{M}|\p{M}{4}/u.test(name)) return 'mark without a letter';
  if (name !== name.normalize('NFC')) return 'letter in parts that Unicode has as one (normalize it as NFC)';
  const [variant] = [...name].filter((sign) => /[\p{L}\p{N}]/u.test(sign) && sign !== sign.normalize('NFKC'));
  if (variant !== undefined) return `other form of a letter or digit (${toCode(variant)})`;
  return ONE_SCRIPT.some((letters) => letters.test(name)) ? null : 'letters of several scripts';
}

/** `U+202E`. */
function toCode(sign: string): string {
  return `U+${(sign.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;
}

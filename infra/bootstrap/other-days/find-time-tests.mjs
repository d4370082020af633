import { listParts, listTests, readSources } from '../suites/test-parts.mjs';

/** What depends on the date, the hour, the zone or the locale. Durations (`elapsed`, `sleep`) do not. */
const TIME =
  /new Date\b|\bDate\.(now|parse|UTC)\b|toLocale|\bIntl\.|localeCompare|\bnow\(\)|clock_timestamp|interval '|setSystemTime|[dD]eadline|[sS]chedules?\b|[cC]ron\b|[eE]xpires|windows: \[|\b(per|in|of)Day\b|\b(to|yester)day\b|\btomorrow\b|\bmidnight\b|\b(days?|months?|hours?)\b/;
/** Tests, or folders of them, that compare the date with a clock that is not shifted. */
export const OTHER_CLOCKS = [
  // That of a Postgres that they start themselves.
  ...['attack', 'bench', 'browser', 'clients', 'e2e', 'kill', 'simulation'].map((name) => `test/${name}/`),
  // The dates of files.
  'packages/object-store/src/create-disk-store.test.ts',
  'packages/audit/src/audit/objects.test.ts',
];
/** The test files that touch time, from the root: they do, or what they test does, or a helper that they import. */
export function findTimeTests(root) {
  const sources = readSources(root);
  return listTests(sources)
    .filter((test) => !OTHER_CLOCKS.some((path) => test.startsWith(path)))
    .filter((test) => listParts(test, sources).some((file) => TIME.test(sources.get(file))));
}

// Loaded before each test file that runs at a moment that passes (CROSS_AT): see ../other-days.mjs.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect } from 'vitest';
import { writeOffset } from './clock-file.mjs';

const { FAKETIME_TIMESTAMP_FILE: file, CROSS_AT: at } = process.env;
/** While modules are loaded it is so much earlier: for them too, time never goes back. */
const LOADING_MS = 60_000;
/** How long before the moment the first test begins: some files cross it there, others in their last test. */
const LEADS_MS = [300, 1_000, 2_000, 4_000];
/** The clock is set if it differs by less; for up to a second libfaketime has what it read before. */
const SAME_MS = 10_000;

if (at !== undefined) {
  const { testPath } = expect.getState();
  const sum = [...`${at}${testPath}`].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  const begin = Date.parse(at) - LEADS_MS[sum % LEADS_MS.length];
  await setClock(begin - LOADING_MS);
  beforeAll(() => setClock(begin));
}

async function setClock(ms) {
  writeOffset(file, Number(readFileSync(file, 'utf8')) * 1_000 + ms - Date.now());
  while (Math.abs(Date.now() - ms) > SAME_MS) await delay(20);
}

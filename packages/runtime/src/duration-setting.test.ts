import { expect, it } from 'vitest';
import { durationSetting } from './duration-setting.js';

it('reads times with their unit as milliseconds', () => {
  const setting = durationSetting('how often');
  for (const [text, ms] of [
    ['250ms', 250],
    ['90s', 90_000],
    ['1.5 min', 90_000],
    ['1h', 3_600_000],
    ['2D', 172_800_000],
    ['0s', 0],
  ] as const) {
    expect(setting.parse(text)).toBe(ms);
  }
});

it('refuses numbers without a unit, other units, what is too short and what no timer can wait for', () => {
  const setting = durationSetting('how often', 1_000);
  for (const text of ['', '5', '-1s', '1w', 'soon', '999ms', '25d']) {
    expect(setting.safeParse(text).success, text).toBe(false);
  }
});

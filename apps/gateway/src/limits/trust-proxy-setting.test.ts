import { expect, it } from 'vitest';
import { trustProxySetting } from './trust-proxy-setting.js';

it.each([
  [undefined, undefined],
  ['2', 2],
  ['10.0.0.0/8, loopback', ['10.0.0.0/8', 'loopback']],
  ['fd00::/8,192.0.2.1', ['fd00::/8', '192.0.2.1']],
])('reads %j', (text, value) => {
  expect(trustProxySetting().parse(text)).toEqual(value);
});

it.each(['0', '17', 'true', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/8/8', 'proxy.example.com', ','])(
  'refuses %j',
  (text) => {
    expect(trustProxySetting().safeParse(text).success).toBe(false);
  },
);

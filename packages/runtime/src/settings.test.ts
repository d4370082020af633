import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PackhouseError } from './catalogue.js';
import {
  bytesSetting,
  completeEnvironment,
  durationSetting,
  integerSetting,
  loadSettings,
  logLevelSetting,
} from './settings.js';

const schema = z.object({
  PORT: integerSetting('a port from 1 to 65535 (default 8080)', 1, 65_535).default(8_080),
  DATABASE_URL: z.url().describe('an address like postgres://localhost:5432/packhouse'),
  NODE_MAX_BODY: bytesSetting('a size like 64MiB').default(67_108_864),
  LOG_LEVEL: logLevelSetting(),
  ADMIN_TOKEN: z.string().min(20).optional().describe('at least 20 characters'),
});
const DATABASE_URL = 'postgres://localhost/x';
function refusal(env: Record<string, string>): PackhouseError {
  try {
    loadSettings(schema, env);
  } catch (error) {
    if (error instanceof PackhouseError) return error;
  }
  throw new Error('nothing was refused');
}

describe('loadSettings', () => {
  it('gives typed values with defaults, frozen', () => {
    const settings = loadSettings(schema, { DATABASE_URL, PORT: ' 81 ', LOG_LEVEL: 'DEBUG', OTHER: 'x' });
    expect(settings).toEqual({ PORT: 81, DATABASE_URL, NODE_MAX_BODY: 67_108_864, LOG_LEVEL: 'debug' });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(loadSettings(schema, { DATABASE_URL }).LOG_LEVEL).toBe('info');
  });

  it('counts an empty variable as absent', () => {
    expect(loadSettings(schema, { DATABASE_URL, PORT: '', LOG_LEVEL: '  ' }).PORT).toBe(8_080);
  });

  it('lists all bad variables with what was seen and what was expected', () => {
    const error = refusal({ PORT: '99999', NODE_MAX_BODY: 'lots', LOG_LEVEL: 'loud' });
    expect(error.code).toBe('SETTINGS_INVALID');
    expect(error.message).toContain('PORT: got "99999", expected a port from 1 to 65535');
    expect(error.message).toContain('DATABASE_URL: it is not set, expected an address like postgres://');
    expect(error.message).toContain('NODE_MAX_BODY: got "lots", expected a size like 64MiB');
    expect(error.message).toContain('LOG_LEVEL: got "loud", expected one of fatal, error');
    expect(error.data.variables).toEqual(['PORT', 'DATABASE_URL', 'NODE_MAX_BODY', 'LOG_LEVEL']);
    expect(error.hint).toContain('.env.example');
  });

  it('repeats no secret', () => {
    const withUrl = z.object({ REDIS_URL: z.url({ protocol: /^rediss?$/ }).describe('redis://…') });
    expect(() => loadSettings(withUrl, { REDIS_URL: 'http://u:hunter2@h/hunter2?hunter2' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
    expect(refusal({ DATABASE_URL, ADMIN_TOKEN: 'hunter2' }).message).not.toContain('hunter2');
  });

  it('reads a value from the file that NAME_FILE names', () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'settings-')), 'database-url');
    writeFileSync(file, `${DATABASE_URL}\n`, { mode: 0o600 });
    expect(loadSettings(schema, { DATABASE_URL_FILE: file, DATABASE_URL: '' }).DATABASE_URL).toBe(
      DATABASE_URL,
    );
    writeFileSync(file, 'hunter2');
    expect(refusal({ DATABASE_URL, PORT_FILE: file }).message).toContain(
      'PORT: got a value that is not shown',
    );
    expect(refusal({ DATABASE_URL_FILE: file, DATABASE_URL }).message).toContain(
      'DATABASE_URL: it and DATABASE_URL_FILE are both set',
    );
    writeFileSync(file, '\n');
    expect(refusal({ DATABASE_URL_FILE: file }).message).toContain(`the file ${file} is empty`);
    const error = refusal({ DATABASE_URL_FILE: `${file}.none`, PORT: 'x' });
    expect(error.message).toContain(`DATABASE_URL_FILE: the file ${file}.none cannot be read (ENOENT)`);
    expect(error.data.variables).toEqual(['DATABASE_URL', 'PORT']);
  });

  it('takes a setting that is named so for itself', () => {
    const named = z.object({ KEY: z.string().optional(), KEY_FILE: z.string() });
    expect(loadSettings(named, { KEY_FILE: 'no-such-file' })).toEqual({ KEY_FILE: 'no-such-file' });
  });

  it('shortens a value that is a novel', () => {
    expect(refusal({ DATABASE_URL, PORT: 'x'.repeat(10_000) }).message.length).toBeLessThan(500);
  });

  it('says what is wrong between two variables in the words of the rule', () => {
    const pair = z.object({ A: z.string(), B: z.string() }).refine((v) => v.A !== v.B, 'A and B must differ');
    expect(() => loadSettings(pair, { A: '1', B: '1' })).toThrow(/not usable: A and B must differ\./);
  });
});

it.each<[string, number]>([
  ['1000', 1_000],
  ['64MiB', 67_108_864],
  ['1.5 kb', 1_500],
  ['2GB', 2_000_000_000],
  ['0', 0],
])('reads the size %s', (text, bytes) => {
  expect(bytesSetting('').parse(text)).toBe(bytes);
});

it.each(['-1', '1e3', '1.5', '0x10', '', ' 1'])('takes no whole number from "%s"', (text) => {
  expect(integerSetting('', 0, 100).safeParse(text).success).toBe(false);
});

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

describe('completing the environment', () => {
  const completed = (env: Record<string, string>, loadEnvFile: () => void = () => undefined) => {
    completeEnvironment({ env, loadEnvFile });
    return env;
  };
  const missing = (): never => {
    throw Object.assign(new Error('no file'), { code: 'ENOENT' });
  };

  it('needs no .env, and names one that it cannot read', () => {
    expect(completed({ A: '1' }, missing)).toEqual({ A: '1' });
    const locked = (): never => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    };
    expect(() => completed({}, locked)).toThrow(/\.env in this folder cannot be read: EACCES/);
  });

  it.each([
    [{}, undefined, undefined],
    [{ HTTPS_PROXY: 'http://p:1' }, 'localhost,127.0.0.1,[::1]', undefined],
    [{ http_proxy: 'http://p:1', NO_PROXY: 'a.b' }, 'a.b,localhost,127.0.0.1,[::1]', undefined],
    [{ HTTP_PROXY: 'http://p:1', no_proxy: 'a.b' }, undefined, 'a.b,localhost,127.0.0.1,[::1]'],
    [{ HTTP_PROXY: 'http://p:1', NO_PROXY: '*' }, '*', undefined],
  ])('with %o this machine has no proxy', (env, upper, lower) => {
    const { NO_PROXY, no_proxy } = completed({ ...env });
    expect([NO_PROXY, no_proxy]).toEqual([upper, lower]);
  });

  it('refuses a proxy that is no address', () => {
    expect(() => completed({ HTTPS_PROXY: 'proxy' })).toThrow('HTTPS_PROXY is not the address of a proxy.');
  });
});

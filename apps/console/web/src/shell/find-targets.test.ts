import { expect, test } from 'vitest';
import { findTargets } from './find-targets.js';

const KNOWN = {
  networks: ['base', 'ethereum'],
  network: undefined,
  nodes: [{ network: 'ethereum', upstream: 'eth-archive-1' }],
  backfill: null,
  keys: [],
  applications: [],
};
const titles = (text: string, more = {}): string[] =>
  findTargets(text, { ...KNOWN, ...more }).map(({ title }) => title);

test('a number is a block of the networks, or a backfill that exists', () => {
  expect(titles('1_500,000', { backfill: 1_500_000 })).toEqual([
    'Block 1,500,000 of base',
    'Files with block 1,500,000 of base',
    'Block 1,500,000 of ethereum',
    'Files with block 1,500,000 of ethereum',
    'Backfill 1500000',
  ]);
  expect(titles('7', { network: 'base' })).toEqual(['Block 7 of base', 'Files with block 7 of base']);
  expect(titles('ethereum 7')[0]).toBe('Block 7 of ethereum');
});

test('words find screens, networks and nodes by any part of their names, in any case', () => {
  expect(titles('QUARA')).toEqual(['Quarantine']);
  expect(titles('eth')).toEqual(['ethereum', 'eth-archive-1']);
  expect(titles('arch eth')).toEqual(['eth-archive-1']);
  expect(titles('new')).toEqual(['New backfill']);
  expect(titles('<script>')).toEqual([]);
});

test('applications come before the keys that belong to them', () => {
  const applications = [
    { name: 'a/b & c', owner: 'ada' },
    { name: 'blog', owner: null },
  ];
  const keys = [{ prefix: 'ph_abcdefgh', application: 'blog' }];
  const found = findTargets('b', { ...KNOWN, networks: [], nodes: [], applications, keys });
  expect(found.filter(({ note }) => note !== 'Screen' && note !== 'Action')).toMatchObject([
    { title: 'a/b & c', note: 'Application of ada', href: '#/keys?application=a%2Fb+%26+c' },
    { title: 'blog', note: 'Application' },
    { title: 'blog', note: 'Key ph_abcdefgh', href: '#/keys/ph_abcdefgh' },
  ]);
});

test('without a text all screens are there, those of a network with the selected one', () => {
  const found = findTargets('', { ...KNOWN, network: 'base' });
  expect(found[0]).toMatchObject({ title: 'Overview', href: '#/overview?network=base' });
  expect(found.some(({ note }) => note === 'Network')).toBe(false);
});

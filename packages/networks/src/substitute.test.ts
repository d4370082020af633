import fc from 'fast-check';
import { expect, it } from 'vitest';
import { substitute } from './substitute.js';

it('fills in addresses and headers, several in one text, and nothing else', () => {
  const tree = {
    id: '${A}',
    upstreams: [
      {
        url: 'https://${A}.example/${B}',
        ws: 'wss://${A}',
        name: '${A}',
        headers: { 'X-Key': '${B}', plain: '$B {B}' },
      },
    ],
  };
  const result = substitute(tree, { A: 'one', B: 'two' });
  expect(result.missing).toEqual([]);
  expect(result.tree).toEqual({
    id: '${A}',
    upstreams: [
      {
        url: 'https://one.example/two',
        ws: 'wss://one',
        name: '${A}',
        headers: { 'X-Key': 'two', plain: '$B {B}' },
      },
    ],
  });
});

it('names what is missing, empty or no name, with the place', () => {
  const { missing } = substitute(
    { networks: [{ upstreams: [{ url: '${GONE}/${EMPTY}/${}', headers: { a: '${constructor}' } }] }] },
    { EMPTY: '' },
  );
  expect(missing.map(({ name }) => name)).toEqual(['GONE', 'EMPTY', '', 'constructor']);
  expect(missing[3]?.path).toEqual(['networks', 0, 'upstreams', 0, 'headers', 'a']);
});

it('does not fill in what was filled in', () => {
  expect(substitute({ url: '${A}' }, { A: '${B}', B: 'deep' }).tree).toEqual({ url: '${B}' });
});

it('leaves a tree without variables as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (tree) => {
      fc.pre(!JSON.stringify(tree).includes('${'));
      expect(JSON.stringify(substitute(tree, {}).tree)).toBe(JSON.stringify(tree));
    }),
  );
});

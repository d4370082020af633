import { describe, expect, it } from 'vitest';
import { assemble, initCode } from './assemble.js';

describe('assemble', () => {
  it('writes opcodes, pushes of the shortest width, and labels', () => {
    expect(assemble('0 1 255 0x100 ADD')).toBe('5f' + '6001' + '60ff' + '610100' + '01');
    expect(assemble('@end JUMP end: STOP ; a comment: @nothing')).toBe('610004' + '56' + '5b' + '00');
    expect(assemble('DUP1 DUP16 SWAP2')).toBe('808f91');
  });

  it.each([
    ['ADDD', /"ADDD"/],
    ['@nowhere JUMP', /no label "nowhere"/],
    ['0xZZ', /"0xZZ"/],
  ])('refuses %s', (program, message) => {
    expect(() => assemble(program)).toThrow(message);
  });
});

describe('initCode', () => {
  it.each([1, 255, 256, 5_000])('copies the %i bytes behind its head', (length) => {
    const runtime = 'ab'.repeat(length);
    const code = initCode(runtime);
    expect(code.endsWith(runtime)).toBe(true);
    const head = code.slice(0, -runtime.length);
    expect(head).toBe(assemble(`${length} DUP1 ${head.length / 2} 0 CODECOPY 0 RETURN`));
  });
});

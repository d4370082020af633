import { describe, expect, it } from 'vitest';
import { createReorganisations } from './reorganisations.js';

describe('the reorganisations of the demo chain', () => {
  it('come when they are due, one, two, three and again one block deep', () => {
    let now = 0;
    const reorganisations = createReorganisations(30_000, { elapsed: () => now });
    const seen: string[] = [];
    for (now = 3_000; now <= 180_000; now += 3_000) {
      const next = reorganisations.next();
      seen.push(next === 'replace' ? 'r' : next === 'branch' ? 'b' : '.');
      if (next === 'branch') reorganisations.grown();
      if (next === 'replace') reorganisations.dropped();
    }
    expect(seen.join('')).toBe('.........br.........bbr.........bbbr.........br.........bbr.');
  });

  it('are none if nobody asked for them', () => {
    let now = 0;
    const reorganisations = createReorganisations(undefined, { elapsed: () => now });
    now = 1e9;
    expect(reorganisations.next()).toBe('block');
  });

  it('begin anew if the node ended with its branch', () => {
    let now = 0;
    const reorganisations = createReorganisations(1_000, { elapsed: () => now });
    now = 1_000;
    expect(reorganisations.next()).toBe('branch');
    expect(reorganisations.grown()).toBe(1);
    reorganisations.dropped();
    expect(reorganisations.next()).toBe('block');
  });
});

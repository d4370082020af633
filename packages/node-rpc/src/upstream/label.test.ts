import { describe, expect, it } from 'vitest';
import { testUpstream } from '../../test/test-source.js';
import { createNodeLabel } from './label.js';

describe('createNodeLabel', () => {
  it('names a node by its name and its address without credentials', () => {
    const url = 'https://user:password@node.example/v3/0123456789abcdef?key=fedcba9876543210';
    const label = createNodeLabel(
      testUpstream(url, { headers: { authorization: 'Bearer tokentokentoken' } }),
    );
    expect(label.text).toMatch(/^main \(https:\/\/.*node\.example\/.*\)$/);
    expect(label.text).not.toMatch(/password|0123456789abcdef|fedcba9876543210/);
    expect(label.quote('0123456789abcdef fedcba9876543210 password tokentokentoken v3')).toBe(
      '*** *** *** *** v3',
    );
  });

  it('quotes one line of bounded length', () => {
    const { quote } = createNodeLabel(testUpstream('http://node.example'));
    expect(quote(' two\n  lines ')).toBe('two lines');
    expect(quote('x'.repeat(1_000_000))).toHaveLength(201);
  });

  it.each([['localhost:8545'], ['ws://node.example'], ['']])('refuses the address "%s"', (url) => {
    expect(() => createNodeLabel(testUpstream(url))).toThrow(/expected one of http or https/);
  });
});

import { expect, it } from 'vitest';
import * as door from './index.js';

it('exports what strangers may use, and nothing else', () => {
  expect(Object.keys(door).sort()).toEqual(['createDiskStore', 'openObjectStore', 'probeStore']);
});

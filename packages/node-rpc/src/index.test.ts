import { expect, it } from 'vitest';
import * as door from './index.js';

it('lets out no more than the source, the forwarder and how a node is named', () => {
  expect(Object.keys(door)).toEqual(['createBlockSource', 'createForwarder', 'createNodeLabel']);
});

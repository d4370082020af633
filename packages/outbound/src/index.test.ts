import { expect, it } from 'vitest';
import * as outbound from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(outbound).sort()).toEqual([
    'connectPublic',
    'createMail',
    'createPost',
    'createResolve',
  ]);
});

import { expect, it } from 'vitest';
import * as door from './index.js';

it('lets out no more than the source, the forwarder, and how nodes are named, asked and understood', () => {
  expect(Object.keys(door).sort()).toEqual([
    'createAllowance',
    'createBlockSource',
    'createForwarder',
    'createNodeLabel',
    'createNodeReports',
    'createRedisLeases',
    'createSpending',
    'createUpstreamClient',
    'forgetUpstreams',
    'getBudgetUsage',
    'getHeadRequest',
    'getIdentityRequest',
    'judgeRefusedRange',
    'parseQuantity',
  ]);
});

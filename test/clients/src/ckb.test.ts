import { createReplayNode, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { isInstalled, library, UNLESS_INSTALLED } from './library.js';
import { type Gateway, startGateway } from './start-gateway.js';


export type { Network, Upstream } from './network.js';

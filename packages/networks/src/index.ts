export type { NetworksChange } from './describe-change.js';
export {
  isKnownMethod,
  isMethodElsewhere,
  METHODS_OF_FAMILY,
  nodeMethod,
  WALLET_METHODS,
} from './method-families.js';
export type { Family, Network, Upstream } from './network.js';
export { loadNetworks, parseNetworks } from './parse-networks.js';
export { type NetworksWatch, watchNetworks } from './watch-networks.js';

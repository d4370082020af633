export { changeText, describeChange, type NetworksChange } from './describe-change.js';
export { loadNetworks } from './load-networks.js';
export type { Family, Network, RpcPolicy, Upstream } from './network.js';
export type { NetworksFile } from './network-schema.js';
export { networksJsonSchema } from './networks-json-schema.js';
export { nodeMethod } from './node-method.js';
export { parseNetworks } from './parse-networks.js';
export { type NetworksWatch, type NetworksWatchOptions, watchNetworks } from './watch-networks.js';

/** What the contract of these tests offers; both libraries read the same lines. */
export const CONTRACT_ABI = [
  'function get(uint256 value) view returns (uint256)',
  'function ping(uint256 id)',
  'function refuse() view',
  'function climb(uint256 height) view',
  'event Ping(uint256 indexed id)',
  'error TooLow(uint256 height)',
] as const;

/**
 * Assembled by hand, since no compiler is about: `get` returns its argument, `ping` emits `Ping`, `refuse` reverts with
 * `Error("not today")`, `climb` with `TooLow` of its argument.
 */
export const CONTRACT_CODE =
  '0x6100f680600c6000396000f360003560e01c80639507d39a14610037578063773acdef1461004357806362c69b801461006e578063ffd931f3146100c65760006000fd5b60043560005260206000f35b6004357f48257dc961b6f792c2b78a080dacfed693b660960a702de21cee364e20270e2f60006000a2005b7f08c379a000000000000000000000000000000000000000000000000000000000600052602060045260096024527f6e6f7420746f646179000000000000000000000000000000000000000000000060445260646000fd5b7f172b09840000000000000000000000000000000000000000000000000000000060005260043560045260246000fd';

/** The first account of a node for development; its key is public, and the same at Anvil and Hardhat. */
export const DEV_ACCOUNT = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  key: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
} as const;

export { CONTRACT_ABI, CONTRACT_CODE } from './contract.js';
export { type ChainGateway, startChainGateway } from './start-gateway.js';

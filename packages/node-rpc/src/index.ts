export type {
  BlockAnchor,
  BlockHeader,
  BlockSource,
  ChainHead,
  FailedBlock,
  FetchedBlock,
  FetchWish,
  UpstreamStatus,
} from './block-source.js';
export { type BlockSourceOptions, createBlockSource } from './create-block-source.js';

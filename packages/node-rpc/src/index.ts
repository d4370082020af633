export type {
  BlockSource,
  ChainHead,
  FailedBlock,
  FetchedBlock,
  FetchWish,
  UpstreamStatus,
} from './block-source.js';

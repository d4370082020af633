import type { Family } from '@packhouse/networks';
import type { Row } from './meanings.js';

/** A JSON-RPC error; all given conditions must hold. */
interface ErrorRow extends Row {
  codes?: readonly number[];
  says?: RegExp;
  methods?: RegExp;
  family?: Family;
  /** Only if several calls shared the request. */
  batched?: true;
  /** The message names a limit of eth_getLogs (see parseRefusedRange). */
  range?: true;
}

const SENDS = /^eth_send/;
/** Codes of providers for an exceeded rate; node programs use some of them for other errors. */
const RATE_CODES = [429, 1015, -32005, -32007, -32009, -32016, -32029, -32090, -32097];

/** The first row that fits decides; -32000 is all of geth's own errors, so the message comes before the code. */
export const ERROR_ROWS: readonly ErrorRow[] = [
  // Errors that every node would return. First, since the reason of a revert may be any text.
  { codes: [3], meaning: 'callers-fault', source: 'geth internal/ethapi/errors.go revertError' },
  {
    says: /^(vm )?(execution|exception|transaction).{0,40}\brevert/i,
    meaning: 'callers-fault',
    source: 'Besu RpcErrorType REVERT_ERROR (-32000); OpenEthereum VM execution error; Hardhat',
  },
  {
    codes: [-32015],
    meaning: 'callers-fault',
    source: 'Nethermind ErrorCodes VMError; conflux-rust: a call that fails',
  },
  {
    family: 'core',
    // Of logs it may be a refused range, below.
    methods: /(?<!_getLogs)$/,
    codes: [-32016],
    meaning: 'callers-fault',
    source: 'conflux-rust client/src/rpc/errors',
  },
  {
    says: /insufficient (funds|balance)|nonce (is )?too|already known|known transaction|underpriced|exceeds (block gas limit|allowance)|gas limit exceeds|intrinsic gas|fee cap|max fee per|initcode|oversized data|out of gas|invalid (opcode|jump|sender|signature)|stack (under|over)flow|not authorized to send/i,
    meaning: 'callers-fault',
    source: 'geth core/error.go, core/vm/errors.go, core/txpool/errors.go; Besu RpcErrorType',
  },

  // The operator's key or plan, then rates: with any code.
  {
    says: /monthly (capacity|quota|limit)|reached the free tier|limit for your (current )?plan|\/billing|payment required|(credits?|balance) (is |are |has been )?(exhausted|used up|depleted)/i,
    meaning: 'plan',
    source: 'Alchemy and dRPC under HTTP 200 or 429; eRPC error_normalizer.go: billing',
  },
  {
    says: /must be authenticated|unauthori[sz]ed|authentication (failed|required)|invalid (api.?key|project id|token|credentials)|(api.?key|access token|project id).{0,30}(invalid|missing|required|expired|disabled|not (found|valid))|key is (inactive|disabled)|not allowed to access|access denied/i,
    meaning: 'refused',
    source: 'Alchemy, Infura, QuickNode under HTTP 200; eRPC error_normalizer.go: unauthorized',
  },
  { codes: [-40100], meaning: 'refused', source: 'Besu RpcErrorType UNAUTHORIZED' },
  {
    says: /rate.?limit|too many requests|requests? (per second|count|rate|limit)|requests limited to|\d+\/sec|compute units|quota|over capacity|throughput|too much load|server is busy|no server available|upgrade your tier/i,
    meaning: 'slow-down',
    source: 'Infura, Alchemy, QuickNode, jsonrpsee; eRPC error_normalizer.go: capacity exceeded',
  },

  // Codes and messages of one method or family.
  {
    methods: SENDS,
    codes: [-32001, -32002, -32003, -32004, -32005, -32006, -32007, -32009, -32010],
    meaning: 'callers-fault',
    source: 'Besu RpcErrorType, transaction validation; EIP-1474 -32003 (reth: transaction rejected)',
  },
  {
    family: 'core',
    codes: [-32072, -32073, -32066],
    meaning: 'not-here',
    source: 'conflux-rust client/src/rpc/errors: catching up',
  },
  {
    family: 'core',
    codes: [-32074, -32075, -32077],
    meaning: 'pruned',
    source: 'conflux-rust client/src/rpc/errors: no longer kept',
  },
  {
    methods: /_getLogs$/,
    range: true,
    meaning: 'range-refused',
    source: 'upstream/refused-range.test.ts has the sentences of nodes and providers',
  },
  {
    family: 'core',
    codes: [-32016],
    meaning: 'callers-fault',
    source: 'conflux-rust client/src/rpc/errors: of logs',
  },
  {
    batched: true,
    says: /batch.{0,40}(not (supported|allowed|enabled)|disabled)/i,
    meaning: 'no-batch',
    source: 'jsonrpsee BATCHES_NOT_SUPPORTED_CODE (-32005)',
  },

  // Methods that this node does not offer.
  {
    codes: [-32601, -32604],
    meaning: 'method-missing',
    source: 'JSON-RPC 2.0; Besu RpcErrorType METHOD_NOT_ENABLED',
  },
  { codes: [-32004], meaning: 'method-missing', source: 'EIP-1474' },
  {
    codes: [-32612, -32613],
    meaning: 'method-missing',
    source: 'QuickNode error codes; eRPC thirdparty/quicknode.go',
  },
  {
    says: /method .{0,80}(not (found|supported|available|allowed|whitelisted|enabled)|does not exist|unsupported)|unsupported method|(module|namespace) .{0,40}(disabled|not (enabled|available|supported))|functionality is not available|not included in your (current )?plan/i,
    meaning: 'method-missing',
    source:
      'geth, Alchemy (-32600), Erigon --http.api; Besu P2P_DISABLED; eRPC error_normalizer.go: unsupported',
  },

  // Data that this node does not have.
  {
    codes: [4444],
    meaning: 'pruned',
    source: 'EIP-4444; execution-apis; reth PrunedHistoryUnavailable; Nethermind ErrorCodes',
  },
  {
    says: /pruned history unavailable|not available due to pruning|has (either )?been pruned|\bis pruned\b|state .{0,40}(pruned|pruning)/i,
    meaning: 'pruned',
    source: 'geth core/history; Erigon state PrunedError; reth; OpenEthereum; Cosmos EVM',
  },
  {
    says: /data before txnum=\d+|purged for block/i,
    meaning: 'pruned',
    source: 'Erigon db/state/inverted_index.go: seekInFiles, countEvents',
  },
  {
    says: /missing trie node|trie does not|no state available|world state unavailable|state .{0,80}(not available|unavailable)|(historical|old) .{0,40}(not available|unavailable)|no historical rpc/i,
    meaning: 'pruned',
    source:
      'geth trie/errors.go, eth/state_accessor.go; Nethermind GetStateFailureResult; Besu RpcErrorType; eRPC evm/util.go',
  },
  {
    says: /state already discarded|state not found for block|histor(y|ies) .{0,10}(not fully|(haven|hasn)'t been( fully)?) indexed|no state found for block|not maintain archive data|lowest height is|failed to load state (at height|tree)|does not exist on height|historical backend error|empty reader set/i,
    meaning: 'pruned',
    source:
      'Frontier; geth triedb/pathdb; Rootstock; Optimism; Fantom; Cosmos EVM; Lotus; BSC; dshackle EthereumLowerBoundStateDetector.kt',
  },
  {
    says: /^missing block 0x|^parent 0x\w+ not found|^genesis state is missing|^receipts length mismatch: \d+ vs 0$/i,
    meaning: 'pruned',
    source: 'geth eth/state_accessor.go: blocks to run again are gone; internal/ethapi GetBlockReceipts',
  },
  {
    says: /^layer stale$/i,
    meaning: 'not-here',
    source: 'geth triedb/pathdb/errors.go: the state went out of memory while it was read',
  },
  {
    says: /neither stored nor reproducible|archive requests require/i,
    meaning: 'pruned',
    source: 'Nethermind receipts (-32602); PublicNode (-32602)',
  },
  {
    says: /maximum proof window|max-recreate-state-depth/i,
    meaning: 'pruned',
    source: 'reth ExceedsMaxProofWindow (-32602); Arbitrum Nitro',
  },
  {
    says: /transaction indexing is in progress/i,
    meaning: 'not-here',
    source: 'geth internal/ethapi/errors.go TxIndexingError',
  },
  {
    codes: [-39001],
    meaning: 'not-here',
    source: 'execution-apis; Besu RpcErrorType UNKNOWN_BLOCK; Nethermind ErrorCodes',
  },
  {
    says: /header (for (hash|number) )?not found|header range not found|unknown block|could not find block|block .{0,100}not found|block body is missing|(block|body|receipt|transaction)s? not found|transaction .{0,80}not found|(cannot|unable to) find (block|header|receipts?|transaction)|could not be found|blocks specified.{0,80}cannot be found|(doesn't|does not) exist yet/i,
    meaning: 'not-here',
    source:
      'geth eth/api_backend.go; reth EthApiError; Erigon, Besu BLOCK_NOT_FOUND; Nethermind ReceiptFinderExtensions, BlockFinderExtensions; zkSync; eRPC evm/util.go',
  },
  {
    says: /\bnot (currently |part of the )?canonical\b/i,
    meaning: 'not-here',
    source: 'EIP-1898: geth, Erigon hash is not currently canonical; Nethermind BlockFinderExtensions',
  },
  {
    codes: [-32000],
    says: /^invalid input$/i,
    meaning: 'not-here',
    source: 'Besu RpcErrorType JSON_RPC_NOT_CANONICAL_ERROR',
  },
  {
    says: /failed to get logs for block|pending (block|receipts|logs) (is|are) not available|(failed to compute|error loading messages for) tipset|bad tipset height|unsupported block number|can't route your request/i,
    meaning: 'not-here',
    source: 'geth eth/filters, internal/ethapi; Lotus; Arbitrum Nitro; dRPC code 12; dshackle',
  },
  {
    says: /not synced|syncing|initial sync|beyond (current )?head|greater than latest|after last accepted|cannot query unfinalized|height (is not available|must be less than|passed is invalid)|invalid block height|block height passed|invalid blockhash finalized|expect block number from id|genesis is not traceable|could not find finalizeblock/i,
    meaning: 'not-here',
    source: 'Besu RpcErrorType (-32008); reth (logs); Avalanche; Cosmos EVM; eRPC evm/util.go',
  },
  { codes: [-32001], meaning: 'not-here', source: 'EIP-1474 resource not found; reth EthRpcErrorCode' },

  // Too much at once.
  {
    codes: [-32003, -32008, -32010, -32011],
    meaning: 'too-large',
    source: 'geth rpc/errors.go (-32003); jsonrpsee TOO_BIG_RESPONSE_CODE, TOO_BIG_BATCH_*',
  },
  {
    codes: RATE_CODES,
    says: /\b(logs?|ranges?|results|blocks?)\b/i,
    meaning: 'range-refused',
    source: 'Besu EXCEEDS_RPC_MAX_BLOCK_RANGE (-32005), for methods other than eth_getLogs',
  },
  {
    codes: RATE_CODES,
    says: /too (big|large|many calls)|oversized|batch.{0,40}(limit|size|exceed|max)|exceeds.{0,40}(size|limit)|response size/i,
    meaning: 'too-large',
    source: 'jsonrpsee TOO_BIG_REQUEST_CODE (-32007); Besu EXCEEDS_RPC_MAX_BATCH_SIZE (-32005)',
  },
  {
    codes: [-32016, -32017],
    says: /time|cancel/i,
    meaning: 'timed-out',
    source: 'Nethermind ErrorCodes Timeout, ModuleTimeout',
  },
  {
    codes: RATE_CODES,
    meaning: 'slow-down',
    source:
      'EIP-1474 limit exceeded (-32005); QuickNode, Cloudflare 1015; jsonrpsee SERVER_IS_BUSY_CODE (-32009)',
  },
  {
    says: /exceed max addresses or topics/i,
    meaning: 'too-large',
    source: 'geth eth/filters/api.go errExceedLogQueryLimit: --rpc.logquerylimit, of each node its own',
  },
  { codes: [-32002], meaning: 'timed-out', source: 'geth rpc/errors.go errcodeTimeout' },
  { codes: [-32602], meaning: 'params-refused', source: 'JSON-RPC 2.0' },
  {
    says: /tracer.{0,40}not (found|supported|defined)|unknown tracer|unsupported tracer|is not defined/i,
    meaning: 'params-refused',
    source: 'geth eth/tracers (a tracer that is no name is JavaScript)',
  },
  {
    says: /too (big|large|many calls)|oversized|batch.{0,40}(limit|size|exceed|max)|exceeds.{0,40}(size|limit)|response size/i,
    meaning: 'too-large',
    source: 'geth rpc/handler.go: batch too large (-32600); Erigon',
  },
  {
    says: /time[d]?.?out|deadline exceeded/i,
    meaning: 'timed-out',
    source: 'geth: execution aborted (timeout = 5s); Erigon: deadline exceeded; Besu TIMEOUT_ERROR (-32603)',
  },
  {
    codes: [-32600, -32700],
    meaning: 'callers-fault',
    shrinks: true,
    source: 'JSON-RPC 2.0; of a batch often the whole batch',
  },
  {
    says: /method handler crashed/i,
    meaning: 'broken',
    shrinks: false,
    weighs: false,
    source: 'geth rpc/service.go: a panic of the method',
  },
  {
    codes: [-32603],
    meaning: 'broken',
    shrinks: false,
    weighs: false,
    source: 'JSON-RPC 2.0; reth uses it for much that another node can answer',
  },
];

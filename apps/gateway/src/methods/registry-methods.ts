import { createAnswerJointly } from '../rpc/answer-jointly.js';
import { askWhole, failure, parseBody } from '../rpc/ask-node.js';
import { anything, checkParams, describeType, invalidParams, isObject } from '../rpc/check-params.js';
import { type RpcMethod, toResult } from '../rpc/method.js';

const MAX_TEXT = 256;

/** Methods of registries: the accounts of a key. */
export function registryMethods(): RpcMethod[] {
  const answerJointly = createAnswerJointly();
  return [
    {
      name: 'registry_accountList',
      cost: 1,
      idempotent: true,
      async handle(call, caller) {
        checkParams(call.params, [anything]);
        checkLookup(call.params[0]);
        const { paramsText: params } = call;
        return answerJointly(params, caller, async (all) => {
          // Which of the key's fields it needs is the indexer's affair.
          const request = { method: 'registry_accountList', params, checkedRead: false };
          const answer = await askWhole(all, request);
          return answer.kind === 'error' ? answer : toResult(normalizeResult(parseBody(answer.body)));
        });
      },
    },
  ];
}

function checkLookup(value: unknown): void {
  const fields = asObject('', value);
  if (fields.type !== 'blockchain') throw wrong('type', 'expected "blockchain"');
  const keyInfo = asObject('key_info', fields.key_info);
  for (const name of ['coin_type', 'chain_id', 'key']) {
    const field = keyInfo[name];
    // Indexers need a coin type or a chain id, and decide themselves which.
    if (field === undefined && name !== 'key') continue;
    if (typeof field !== 'string')
      throw wrong(`key_info.${name}`, `expected a string, got ${describeType(field)}`);
    if (field.length > MAX_TEXT) throw wrong(`key_info.${name}`, `longer than ${MAX_TEXT} characters`);
  }
  if (keyInfo.key === '') throw wrong('key_info.key', 'is empty');
}

function asObject(path: string, value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw wrong(path, `expected an object, got ${describeType(value)}`);
}

function wrong(path: string, detail: string): Error {
  return invalidParams(`invalid argument 0: ${path === '' ? '' : `${path}: `}${detail}`, 0);
}

/** The result with `errno` and `errmsg`, however the indexer spells them, and with aliases filled in. */
function normalizeResult(response: unknown): string {
  if (typeof response !== 'object' || response === null) throw nonsense();
  const { errno, err_no, errmsg, err_msg, data } = response as Record<string, unknown>;
  const code = errno ?? err_no;
  if (typeof code !== 'number') throw nonsense();
  const message = errmsg ?? err_msg;
  const { account_list: list, total } = (data ?? {}) as { account_list?: unknown; total?: unknown };
  if (code === 0 && list !== null && list !== undefined && !Array.isArray(list)) throw nonsense();
  const accounts = (Array.isArray(list) ? (list as unknown[]) : []).map((entry) => {
    const { account, account_alias: alias, ...rest } = (entry ?? {}) as Record<string, unknown>;
    if (typeof account !== 'string') throw nonsense();
    return {
      account,
      account_alias: typeof alias === 'string' && alias !== '' ? alias : getAlias(account),
      ...rest,
    };
  });
  return JSON.stringify({
    errno: code,
    errmsg: typeof message === 'string' ? message : '',
    data: { total: typeof total === 'number' ? total : undefined, account_list: accounts },
  });
}

/** `b.a.bit` is `a#b.bit`; any other account is its own alias. */
function getAlias(account: string): string {
  const parts = account.split('.');
  if (parts.length !== 3 || account.includes('#')) return account;
  const [sub, main, suffix] = parts as [string, string, string];
  return `${main}#${sub}.${suffix}`;
}

function nonsense(): Error {
  return failure({ reason: 'nonsense', detail: 'the registry sent a response that is not an account list' });
}

import { getOrAdd, type Metrics, type TallyCount, type TallyTimes } from '@packhouse/runtime';
import type { Exchange } from './exchange.js';

/** Keys with a label of their own; bounded, because series live as long as the process. */
const MAX_KEYS = 1_000;

/** Returns the function that labels a key: with its prefix, for the first thousand keys. */
export function createBoundedLabel(most = MAX_KEYS): (prefix: string) => string {
  const seen = new Set<string>();
  return (prefix) => {
    if (prefix === '' || seen.has(prefix)) return prefix;
    if (seen.size >= most) return 'other';
    seen.add(prefix);
    return prefix;
  };
}

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The facts of an exchange that are counted. */
type CountedExchange = Pick<Exchange, 'route' | 'network' | 'kind' | 'prefix'>;

/** The series of requests with the same labels. */
interface RequestSeries {
  route: string;
  network: string;
  kind: string;
  status: number;
  key: string;
  requests: TallyCount;
  place: { bytes: TallyCount; seconds: TallyTimes };
}

/** Counts a request that ended. */
type CountRequest = (exchange: CountedExchange, status: number, seconds: number, bytes: number) => void;

/** Creates the counters of requests. Four metrics of prom-client would cost a tenth of a pointer's time. */
export function createRequestMetrics(metrics: Metrics): CountRequest {
  const labels = ['route', 'network', 'kind'] as const;
  const requests = metrics.tallyCounter('packhouse_gateway_requests_total', 'Requests answered.', [
    ...labels,
    'status',
    'key',
  ]);
  const sent = metrics.tallyCounter('packhouse_gateway_sent_bytes_total', 'Bytes of bodies sent.', labels);
  const times = metrics.tallyHistogram(
    'packhouse_gateway_request_seconds',
    'Time from the arrival of a request to the end of its answer.',
    labels,
    BOUNDS,
  );
  const known = new Map<string, RequestSeries>();
  const places = new Map<string, RequestSeries['place']>();
  const keyLabel = createBoundedLabel();
  /** By kind: most requests have the labels of the one before of their kind; then no name is built. */
  const latest = new Map<string, RequestSeries>();

  const toSeries = (
    { route, network, kind }: CountedExchange,
    status: number,
    key: string,
  ): RequestSeries => {
    const where = { route, network, kind };
    const name = `${route} ${network} ${kind}`;
    const place = getOrAdd(places, name, () => ({ bytes: sent(where), seconds: times(where) }));
    return getOrAdd(known, `${name} ${status} ${key}`, () => ({
      ...where,
      status,
      key,
      place,
      requests: requests({ ...where, status: String(status), key }),
    }));
  };

  return (exchange, status, seconds, bytes) => {
    const key = keyLabel(exchange.prefix);
    let alike = latest.get(exchange.kind);
    if (
      alike === undefined ||
      alike.route !== exchange.route ||
      alike.network !== exchange.network ||
      alike.status !== status ||
      alike.key !== key
    ) {
      alike = toSeries(exchange, status, key);
      latest.set(exchange.kind, alike);
    }
    alike.requests.add(1);
    alike.place.bytes.add(bytes);
    alike.place.seconds.observe(seconds);
  };
}

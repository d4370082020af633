import type * as Api from '@opentelemetry/api';

/** Attributes of a span: numbers, words and flags, never a key, never an address. */
type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A span of OpenTelemetry. */
export interface Span {
  /** Begins a span inside this one; `calls` is for outgoing requests. */
  child(name: string, facts?: SpanFacts, kind?: 'inside' | 'calls'): Span;
  note(facts: SpanFacts): void;
  /** Marks the span as failed, with the reason in a word. */
  fail(why: string): void;
  end(): void;
  /** The header `traceparent` of outgoing requests (W3C Trace Context, 3.2). */
  readonly traceparent: string;
}

/** Begins spans. */
export interface Tracing {
  /** Begins the span of an incoming request, in the client's trace if it sent a `traceparent`. */
  request(name: string, options: { traceparent?: string | undefined; facts?: SpanFacts }): Span;
  /** Begins a span inside of the one that the SDK holds to be active, such as that of the job that runs; else a trace. */
  work(name: string, facts?: SpanFacts): Span;
}

/** W3C Trace Context, 3.2.2: version, trace id, parent id, flags; ids of zeros alone are not valid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/**
 * Traces if an OpenTelemetry SDK was registered before the process began (`NODE_OPTIONS=--import …`); else undefined,
 * at no cost. `@opentelemetry/api` is optional.
 */
export async function openTracing(): Promise<Tracing | undefined> {
  let api: typeof Api;
  try {
    api = await import('@opentelemetry/api');
  } catch {
    return undefined;
  }
  const { context, SpanKind, SpanStatusCode, trace, ROOT_CONTEXT, ProxyTracerProvider } = api;
  const provider = trace.getTracerProvider();
  if (provider instanceof ProxyTracerProvider && provider.getDelegateTracer('packhouse') === undefined) {
    return undefined;
  }
  const tracer = trace.getTracer('packhouse');

  const begin = (
    parent: Api.Context,
    name: string,
    kind: Api.SpanKind,
    attributes: SpanFacts | undefined,
  ): Span => {
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    return {
      child: (childName, facts, childKind = 'inside') =>
        begin(
          trace.setSpan(parent, span),
          childName,
          childKind === 'calls' ? SpanKind.CLIENT : SpanKind.INTERNAL,
          facts,
        ),
      note: (facts) => void span.setAttributes(facts),
      fail: (why) => void span.setStatus({ code: SpanStatusCode.ERROR, message: why }),
      end: () => span.end(),
      get traceparent() {
        const { traceId, spanId, traceFlags } = span.spanContext();
        return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
      },
    };
  };

  return {
    work: (name, facts) => begin(context.active(), name, SpanKind.INTERNAL, facts),
    request: (name, { traceparent, facts }) => {
      const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
      const parent =
        traceId === undefined || spanId === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId,
              spanId,
              traceFlags: Number.parseInt(flags ?? '0', 16) & 1,
              isRemote: true,
            });
      return begin(parent, name, SpanKind.SERVER, facts);
    },
  };
}

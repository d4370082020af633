import type { ChannelKind, UntoldCondition } from '@packhouse/database';

/** Characters of the message of one condition, and conditions that a text for people has in full. */
const MAX_MESSAGE = 500;
const MAX_LISTED = 20;
const MAX_SUBJECT = 150;
const MAX_NAMES = 20;

/** Spaces, line ends, control characters, and marks that turn the direction of the text around them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const UNSAFE = /[ \u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/g;

/** A message for people: an e-mail, or a post. */
export interface Text {
  subject: string;
  lines: string[];
}

/** Conditions are open or resolved; a test has none. */
interface Contents {
  type: 'notification' | 'test';
  channel: number;
  at: Date;
  conditions: readonly UntoldCondition[];
  /** Of the page of alarms; undefined: unknown. */
  link: string | undefined;
}

/** Makes one line of a text, which a node, a receiver or a person chose, and cuts it. */
function toOneLine(text: string, max: number): string {
  const line = text.replace(UNSAFE, ' ').trim();
  // Not through the middle of a character.
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The body of a message as a channel of this kind gets it. Of e-mail: a Text as JSON. */
export function toBody(kind: ChannelKind, contents: Contents): string {
  if (kind === 'webhook') return toWebhook(contents);
  const text = toText(contents);
  return JSON.stringify(kind === 'slack' ? { text: toSlack(text) } : text);
}

function toWebhook({ type, channel, at, conditions, link }: Contents): string {
  const listed = conditions.map(({ key, name, network, severity, message, since, endedAt, begun }) => ({
    key,
    name,
    network,
    severity,
    state: endedAt === null ? 'open' : 'resolved',
    message: cut(message),
    since,
    resolvedAt: endedAt,
    begun,
  }));
  return JSON.stringify({ type, timestamp: at, data: { channel, link: link ?? null, conditions: listed } });
}

function toText({ type, channel, conditions, link }: Contents): Text {
  if (type === 'test') {
    const line = `This is a test of channel ${channel}. Notifications of Packhouse arrive here.`;
    return { subject: '[Packhouse] Test', lines: [line, ...linkLine(link)] };
  }
  const listed = conditions.slice(0, MAX_LISTED);
  const others = countBy(conditions.slice(MAX_LISTED).map(toTitle));
  const lines = listed.flatMap((each) => [toTitle(each), `  ${cut(each.message)}`]);
  if (conditions.length > listed.length) {
    const names = [...others].slice(0, MAX_NAMES).map(([title, count]) => `${count} × ${title}`);
    const rest = others.size > MAX_NAMES ? ', …' : '';
    lines.push(`and ${conditions.length - listed.length} more: ${names.join(', ')}${rest}`);
  }
  return { subject: toSubject(conditions), lines: [...lines, ...linkLine(link)] };
}

function linkLine(link: string | undefined): string[] {
  return link === undefined ? [] : ['', link];
}

function toSubject(conditions: readonly UntoldCondition[]): string {
  const open = conditions.filter(({ endedAt }) => endedAt === null).length;
  const counts = [
    ...(open > 0 ? [`${open} open`] : []),
    ...(open < conditions.length ? [`${conditions.length - open} resolved`] : []),
  ];
  const names = [...countBy(conditions.map(({ name }) => name)).keys()];
  const [first] = conditions;
  const what =
    conditions.length === 1 && first !== undefined
      ? `${first.name}${first.network === null ? '' : ` of ${first.network}`}`
      : names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '');
  return toOneLine(`[Packhouse] ${counts.join(', ')}: ${what}`, MAX_SUBJECT);
}

/** Such as `RESOLVED STANDSTILL of ethereum, 12:00Z to 12:20Z, raised 3 times`. */
function toTitle({ name, network, severity, since, endedAt, begun }: UntoldCondition): string {
  const state = endedAt !== null ? 'RESOLVED' : severity === 'critical' ? 'CRITICAL' : 'WARNING';
  const place = network === null ? '' : ` of ${network}`;
  const time =
    endedAt === null ? `since ${formatTime(since)}` : `${formatTime(since)} to ${formatTime(endedAt)}`;
  const again = begun > 1 ? `, raised ${begun} times` : '';
  return toOneLine(`${state} ${name}${place}, ${time}${again}`, MAX_MESSAGE);
}

function toSlack({ subject, lines }: Text): string {
  // Slack reads <!channel> as a mention of everybody.
  const escaped = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [`*${escaped(subject)}*`, ...lines.map(escaped)].join('\n');
}

function cut(message: string): string {
  return toOneLine(message, MAX_MESSAGE);
}

function countBy(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** To the minute, in UTC. */
export function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 16)}Z`;
}

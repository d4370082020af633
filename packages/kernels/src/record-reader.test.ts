import { describe, expect, it } from 'vitest';
import { openRecordReader, type RecordReader, type RecordStep } from './record-reader.js';

/** A reader of records `{"a":…,"b":…}`, each read into a member; `b` may be a list. */
function openPairs(text: string, { required = [false, false], elements = null as number[] | null } = {}) {
  const reader = openRecordReader(Buffer.from(text, 'latin1'), required) as RecordReader;
  const b = text.indexOf(',"b":');
  const steps: RecordStep[] = [
    { start: 1, length: '{"a":'.length, member: 0, form: 'value' },
    { start: b, length: ',"b":'.length, member: elements === null ? 1 : null, form: elements ?? 'value' },
    { start: text.indexOf('}'), length: 1, member: null, form: 'end' },
  ];
  expect(reader.learn(steps, [])).toBe(true);
  return reader;
}

function getNews(reader: RecordReader, text: string): string[] {
  const news: string[] = [];
  reader.eachNew((member, start, end) => news.push(`${member} ${text.slice(start, end)}`) > 0);
  return news;
}

describe('records whose members were learned', () => {
  it('have the numbers of their values, which are told once', () => {
    const text = '[{"a":"x","b":true},{"a":"y","b":null},{"a":"x","b":false}]';
    const reader = openPairs(text);
    expect(reader.read(1, 0)).toBe(text.length);
    expect(reader.row).toBe(3);
    expect(getNews(reader, text)).toEqual(['0 "x"', '1 true', '0 "y"', '1 false']);
    expect(getNews(reader, text)).toEqual([]);
    expect([...reader.numbers(0, 3)]).toEqual([1, 2, 1]);
    expect([...reader.numbers(1, 3)]).toEqual([1, 0, 2]);
    expect(reader.numberAt(0, 1)).toBe(2);
    reader.close();
  });

  it('have lists of fewer and of more elements than there are members', () => {
    const text = '[{"a":"x","b":["p"]},{"a":"x","b":["q","p","r"]},{"a":"x","b":[]}]';
    const reader = openPairs(text, { required: [false, false, false], elements: [1, 2] });
    expect(reader.read(1, 0)).toBe(text.length);
    expect([...reader.numbers(1, 3)]).toEqual([1, 2, 0]);
    expect([...reader.numbers(2, 3)]).toEqual([0, 1, 0]);
    reader.close();
  });

  it.each([
    ['a member of another name', '{"a":"x","c":"y"}'],
    ['a word', '{"a":"x","b":word}'],
    ['an escape in a list', '{"a":"x","b":["\\n"]}'],
    ['a list without an end', '{"a":"x","b":[['],
    ['an escape', '{"a":"x","b":"\\n"}'],
    ['a byte that is not ASCII', '{"a":"x","b":"\u00e9"}'],
    ['a control character', '{"a":"x","b":"\t"}'],
    ['a text without an end', '{"a":"x","b":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'],
    ['null where a value is required', '{"a":null,"b":"y"}'],
    ['nothing behind a comma', ''],
  ])('end before one with %s', (_, record) => {
    const before = '[{"a":"x","b":"y"},';
    const reader = openPairs(`${before}${record}]`, { required: [true, false] });
    expect(reader.read(1, 0)).toBe(-1);
    expect([reader.stopped, reader.row]).toEqual([before.length, 1]);
    reader.close();
  });

  it('are told apart by any byte, at every length', () => {
    const values = Array.from({ length: 80 }, (_, length) =>
      ['x', 'y'].flatMap((last) => [`${'x'.repeat(length)}${last}`, `${last}${'x'.repeat(length)}`]),
    ).flat();
    const text = `[${values.map((value) => `{"a":"${value}","b":true}`).join(',')}]`;
    const reader = openPairs(text);
    expect(reader.read(1, 0)).toBe(text.length);
    const known = [...new Set(values)];
    expect([...reader.numbers(0, values.length)]).toEqual(values.map((value) => known.indexOf(value) + 1));
    reader.close();
  });
});

it('numbers, lists and objects are values, each with its number', () => {
  const values = ['12', '1', '-1.5e+7', '[]', '[1,[2]]', '{"c":"]}"}', '1', '[1,[2]]'];
  const text = `[${values.map((value) => `{"a":${value},"b":${value}}`).join(',')}]`;
  const reader = openRecordReader(Buffer.from(text), [false, false]) as RecordReader;
  const steps: RecordStep[] = [
    { start: 1, length: '{"a":'.length, member: 0, form: 'value' },
    { start: text.indexOf(',"b":'), length: ',"b":'.length, member: 1, form: 'value' },
    { start: text.indexOf('}'), length: 1, member: null, form: 'end' },
  ];
  reader.learn(steps, []);
  expect(reader.read(1, 0)).toBe(text.length);
  expect([...reader.numbers(0, values.length)]).toEqual([1, 2, 3, 4, 5, 6, 2, 5]);
  expect([...reader.numbers(1, values.length)]).toEqual([1, 2, 3, 4, 5, 6, 2, 5]);
  reader.close();
});

it('the objects of a list are counted, which may have lists and brackets in texts, and no other list is', () => {
  const lists = ['[]', '[{}]', '[{"x":[{}]},{"y":"[{"},{"z":{"a":[]}}]', `[{"x":"${'{'.repeat(200)}"},{}]`];
  const text = `[${lists.map((list) => `{"a":${list}}`).join(',')},{"a":[{},1]}]`;
  const reader = openRecordReader(Buffer.from(text), [true]) as RecordReader;
  const steps: RecordStep[] = [
    { start: 1, length: '{"a":'.length, member: 0, form: 'count' },
    { start: text.indexOf('}'), length: 1, member: null, form: 'end' },
  ];
  reader.learn(steps, []);
  expect(reader.read(1, 0)).toBe(-1);
  expect([...reader.numbers(0, reader.row)]).toEqual([1, 2, 4, 3]);
  reader.close();
});

it('records of several shapes are read in any order, and what a shape lacks is null', () => {
  const [one, other, more] = ['{"a":"x","b":"y"}', '{"a":"x"}', '{"b":"x"}'];
  const text = `[${[one, other, one, more, other].join(',')}]`;
  const reader = openRecordReader(Buffer.from(text), [false, false]) as RecordReader;
  const learn = (record: string, members: number[]): void => {
    const start = text.indexOf(record);
    const steps: RecordStep[] = [];
    let from = start;
    for (const [at, name] of ['a', 'b'].entries()) {
      const value = record.indexOf(`"${name}":`) + 4;
      if (value < 4) continue;
      steps.push({ start: from, length: start + value - from, member: at, form: 'value' });
      from = start + value + 3;
    }
    steps.push({ start: from, length: 1, member: null, form: 'end' });
    reader.learn(
      steps,
      [0, 1].filter((member) => !members.includes(member)),
    );
  };
  learn(one, [0, 1]);
  expect([reader.read(1, 0), reader.row]).toEqual([-1, 1]);
  learn(other, [0]);
  expect([reader.read(reader.stopped, 1), reader.row]).toEqual([-1, 3]);
  learn(more, [1]);
  expect(reader.read(reader.stopped, 3)).toBe(text.length);
  expect([...reader.numbers(0, 5)]).toEqual([1, 1, 1, 0, 1]);
  expect([...reader.numbers(1, 5)]).toEqual([1, 0, 1, 2, 0]);
  reader.close();
});

it('a reader that is opened while another one is read has a memory of its own, and a later one a clean one', () => {
  const [one, other] = ['[{"a":"x","b":"y"},{"a":"z","b":"y"}]', '[{"a":"longer","b":"y"}]'];
  const first = openPairs(one);
  const second = openPairs(other);
  expect(first.read(1, 0)).toBe(one.length);
  expect(second.read(1, 0)).toBe(other.length);
  expect(getNews(first, one)).toEqual(['0 "x"', '1 "y"', '0 "z"']);
  expect(getNews(second, other)).toEqual(['0 "longer"', '1 "y"']);
  first.close();
  second.close();
  const third = openPairs(other);
  expect(third.read(1, 0)).toBe(other.length);
  expect(getNews(third, other)).toEqual(['0 "longer"', '1 "y"']);
  third.close();
});

it('a reader takes 64 members at most, and refuses a text that its memory cannot hold', () => {
  expect(openRecordReader(Buffer.from('[]'), new Array(65).fill(false))).toBeNull();
  expect(openRecordReader(Buffer.alloc(420 * 1024 * 1024), [false])).toBeNull();
});

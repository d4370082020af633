/* The TypeScript types of lines as `event Transfer(address indexed from, uint256 value)`, as parameters of JSON ABIs. */

/** The name and the parameters of an event; never: the line is none. `Items` has the structs. */
export type EventOf<Line extends string, Items> =
  Trim<Line> extends `event ${infer Name}(${infer Rest}`
    ? List<Rest>['parts'] extends infer Parts extends string[]
      ? { name: Trim<Name>; inputs: Parameters<Parts, Items> }
      : never
    : never;

type Trim<Text extends string> = Text extends `${Blank}${infer Rest}`
  ? Trim<Rest>
  : Text extends `${infer Rest}${Blank}`
    ? Trim<Rest>
    : Text;
type Blank = ' ' | '\n' | '\t';

/** What is between commas until the list is closed, and what follows it. A character at a time: brackets may be nested. */
type List<
  Text extends string,
  Now extends string = '',
  Open extends 0[] = [],
  Parts extends string[] = [],
> = Text extends `${infer Next}${infer Rest}`
  ? Next extends '('
    ? List<Rest, `${Now}(`, [...Open, 0], Parts>
    : Next extends ')'
      ? Open extends [0, ...infer Fewer extends 0[]]
        ? List<Rest, `${Now})`, Fewer, Parts>
        : { parts: Trim<Now> extends '' ? Parts : [...Parts, Now]; rest: Rest }
      : Next extends ','
        ? Open extends []
          ? List<Rest, '', [], [...Parts, Now]>
          : List<Rest, `${Now},`, Open, Parts>
        : List<Rest, `${Now}${Next}`, Open, Parts>
  : { parts: never; rest: never };

type Parameters<Parts extends string[], Items> = { [At in keyof Parts]: Parameter<Trim<Parts[At]>, Items> };

type Parameter<Text extends string, Items> = Text extends `tuple(${infer Rest}` | `(${infer Rest}`
  ? List<Rest> extends { parts: infer Parts extends string[]; rest: infer After extends string }
    ? Words<After> & { type: `tuple${Brackets<After>}`; components: Parameters<Parts, Items> }
    : never
  : Text extends `${infer Type} ${infer After}`
    ? Words<` ${After}`> & Typed<Type, Items>
    : { name: ''; indexed: false } & Typed<Text, Items>;

/** `[2]` of `[2] indexed name`. */
type Brackets<After extends string> = After extends `${infer Own} ${string}` ? Own : After;

type Words<After extends string> = {
  name: NameIn<After extends `${string} ${infer Rest}` ? Trim<Rest> : ''>;
  indexed: ` ${After} ` extends `${string} indexed ${string}` ? true : false;
};

type NameIn<Text extends string> = Text extends `${infer Word} ${infer Rest}`
  ? Word extends Passed
    ? NameIn<Trim<Rest>>
    : Word
  : Text extends Passed
    ? ''
    : Text;
type Passed = 'indexed' | 'memory' | 'calldata' | 'storage' | 'payable';

/** A type that may be the name of a struct. */
type Typed<Type extends string, Items> = [FieldsOf<Items, Base<Type>>] extends [never]
  ? { type: Type }
  : { type: `tuple${After<Type, Base<Type>>}`; components: Parameters<FieldsOf<Items, Base<Type>>, Items> };

type Base<Type extends string> = Type extends `${infer Own}[${string}` ? Own : Type;
type After<Type extends string, Own extends string> = Type extends `${Own}${infer Rest}` ? Rest : '';

/** The fields of a struct; never: there is none of this name. */
type FieldsOf<
  Item,
  Name extends string,
> = Item extends `${Blank | ''}struct ${infer Own}{${infer Fields}}${string}`
  ? Trim<Own> extends Name
    ? Split<Fields>
    : never
  : never;

type Split<Fields extends string> = Fields extends `${infer First};${infer Rest}`
  ? [First, ...Split<Rest>]
  : Trim<Fields> extends ''
    ? []
    : [Fields];

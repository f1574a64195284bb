/**
 * Linear's schema in GraphQL's own language, rebuilt from the types that `@linear/sdk` ships. The generator of those
 * types drops what TypeScript cannot express. What must hold when it is restored:
 *
 * - Only what can be reached from `Query` and `Mutation` is the schema; the rest belongs to the SDK.
 * - A type is an input when an argument leads to it, an output when a field does.
 * - Arguments of a field are a type of their own, `<Type><Field>Args`, spelled with little regard to case.
 * - Unreadable parts are an error, never omitted silently: a schema with holes would accept wrong documents.
 *
 * Lost for good: default values, descriptions, directives.
 */
export function rebuildSdl(declarations: string): string {
  const known = readDeclarations(declarations);
  const reached = reach(known);
  const scalars = [...known.scalars].filter((name) => !builtIn.has(name)).map((name) => `scalar ${name}`);
  return [...scalars, ...reached].join('\n\n').replace(/IdComparator\b/g, 'IDComparator');
}

interface Field {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: string;
}

interface ObjectDeclaration {
  readonly interfaces: readonly string[];
  readonly fields: readonly Field[];
  /** Objects that are answered carry it; inputs and interfaces do not. */
  readonly hasTypename: boolean;
}

interface Declarations {
  readonly scalars: ReadonlySet<string>;
  readonly enums: ReadonlyMap<string, readonly string[]>;
  readonly unions: ReadonlyMap<string, readonly string[]>;
  readonly objects: ReadonlyMap<string, ObjectDeclaration>;
}

const builtIn = new Set(['ID', 'String', 'Boolean', 'Int', 'Float']);

function readDeclarations(text: string): Declarations {
  const enums = new Map<string, readonly string[]>();
  const unions = new Map<string, readonly string[]>();
  const objects = new Map<string, ObjectDeclaration>();
  const lines = text.split('\n');
  const block = (from: number): readonly string[] => {
    let end = from + 1;
    while (end < lines.length && lines[end]?.startsWith('}') === false) end += 1;
    return lines.slice(from + 1, end);
  };
  for (const [at, line] of lines.entries()) {
    const enumName = /^(?:declare )?enum (\w+) \{$/.exec(line)?.[1];
    if (enumName !== undefined) enums.set(enumName, block(at).flatMap(readEnumValue));
    const union = /^type (\w+) = (\w+(?: \| \w+)+);$/.exec(line);
    if (union?.[1] !== undefined && union[2] !== undefined) unions.set(union[1], union[2].split(' | '));
    const object = /^type (\w+) = ((?:\w+ & )*)\{(\};)?$/.exec(line);
    if (object?.[1] !== undefined) {
      const body = object[3] === undefined ? block(at) : [];
      objects.set(object[1], {
        interfaces: (object[2] ?? '').split(' & ').filter((name) => name !== ''),
        fields: body.flatMap(readField),
        hasTypename: body.some((bodyLine) => bodyLine.startsWith('  __typename?:')),
      });
    }
  }
  const scalars = objects.get('Scalars')?.fields.map((field) => field.name);
  if (scalars === undefined) throw new Error('These are not the types of @linear/sdk: no Scalars.');
  return { scalars: new Set(scalars), enums, unions, objects };
}

function readEnumValue(line: string): readonly string[] {
  const value = /^ {2}"?\w+"? = "(\w+)",?$/.exec(line)?.[1];
  return value === undefined ? [] : [value];
}

function readField(line: string): readonly Field[] {
  const match = /^ {2}(\w+)(\?)?: (.+);$/.exec(line);
  if (match?.[1] === undefined || match[3] === undefined || match[1] === '__typename') return [];
  return [{ name: match[1], isOptional: match[2] === '?', type: match[3] }];
}

/** Every definition that `Query` and `Mutation` lead to. */
function reach(known: Declarations): readonly string[] {
  const argumentTypes = new Map<string, ObjectDeclaration>();
  for (const [name, object] of known.objects) {
    if (name.endsWith('Args') && !object.hasTypename) argumentTypes.set(name.replaceAll('_', '').toLowerCase(), object);
  }
  const implementors = new Map<string, string[]>();
  for (const [name, object] of known.objects) {
    for (const above of object.interfaces) implementors.set(above, [...(implementors.get(above) ?? []), name]);
  }
  const definitions = new Map<string, string>();
  const waiting: { readonly name: string; readonly isInput: boolean }[] = [
    { name: 'Query', isInput: false },
    { name: 'Mutation', isInput: false },
  ];

  const typeOf = (field: Field, isInput: boolean): string => {
    const type = readType(field.type);
    const name = type.replaceAll(/[[\]!]/g, '');
    if (!known.scalars.has(name)) waiting.push({ name, isInput });
    return field.isOptional ? type.replace(/!$/, '') : type;
  };
  const argumentsOf = (type: string, field: string): string => {
    const declared = argumentTypes.get(`${type}${field}args`.toLowerCase())?.fields ?? [];
    if (declared.length === 0) return '';
    return `(${declared.map((argument) => `${argument.name}: ${typeOf(argument, true)}`).join(', ')})`;
  };
  const define = (name: string, isInput: boolean): string => {
    const values = known.enums.get(name);
    if (values !== undefined) return `enum ${name} { ${values.join(' ')} }`;
    const members = known.unions.get(name);
    if (members !== undefined) {
      for (const member of members) waiting.push({ name: member, isInput });
      return `union ${name} = ${members.join(' | ')}`;
    }
    const object = known.objects.get(name);
    if (object === undefined || object.fields.length === 0) throw new Error(`Cannot read the type ${name}.`);
    return isInput ? defineInput(name, object) : defineOutput(name, object);
  };
  const defineInput = (name: string, { fields }: ObjectDeclaration): string => {
    const lines = fields.map((field) => `  ${field.name}: ${typeOf(field, true)}`);
    return `input ${name} {\n${lines.join('\n')}\n}`;
  };
  const defineOutput = (name: string, object: ObjectDeclaration): string => {
    const lines = object.fields.map(
      (field) => `  ${field.name}${argumentsOf(name, field.name)}: ${typeOf(field, false)}`,
    );
    for (const above of object.interfaces) waiting.push({ name: above, isInput: false });
    for (const below of implementors.get(name) ?? []) waiting.push({ name: below, isInput: false });
    const above = object.interfaces.length === 0 ? '' : ` implements ${object.interfaces.join(' & ')}`;
    return `${implementors.has(name) ? 'interface' : 'type'} ${name}${above} {\n${lines.join('\n')}\n}`;
  };

  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (definitions.has(next.name)) continue;
    definitions.set(next.name, '');
    definitions.set(next.name, define(next.name, next.isInput));
  }
  return [...definitions.values()];
}

/** `Maybe<Array<Scalars["ID"]>>` is `[ID!]`. */
function readType(text: string): string {
  const nullable = /^(?:Input)?Maybe<(.+)>$/.exec(text)?.[1];
  if (nullable !== undefined) return readType(nullable).replace(/!$/, '');
  const item = /^Array<(.+)>$/.exec(text)?.[1];
  if (item !== undefined) return `[${readType(item)}]!`;
  const scalar = /^Scalars\["(\w+)"\]$/.exec(text)?.[1];
  if (scalar !== undefined) return `${scalar}!`;
  if (/^\w+$/.test(text)) return `${text}!`;
  throw new Error(`Cannot read the type ${text}.`);
}

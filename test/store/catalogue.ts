import type { StorePlace } from '../conformance/store.ts';

/** A schema as the engine itself describes it, in words that both engines share. */
export interface Catalogue {
  readonly tables: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly indexes: readonly string[];
  readonly foreignKeys: readonly string[];
}

export function catalogueOf(engine: 'sqlite' | 'postgres', place: StorePlace): Promise<Catalogue> {
  return engine === 'sqlite' ? sqliteCatalogue(place) : postgresCatalogue(place);
}

async function sqliteCatalogue({ query }: StorePlace): Promise<Catalogue> {
  const columns = await query(`
    select t.name as tab, c.name as col, lower(c.type) as type, c."notnull" as required
    from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite_%'`);
  const indexes = await query(`
    select t.name as tab, i."unique" as uniq, i.partial as part,
      (select group_concat(x.name) from (select name from pragma_index_info(i.name) order by seqno) x) as cols
    from sqlite_schema t join pragma_index_list(t.name) i where t.type = 'table'`);
  // A primary key that counts by itself is the table itself and has no index of its own.
  const counting = await query(`
    select t.name as tab, 1 as uniq, 0 as part, c.name as cols from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite_%' and c.pk = 1
      and not exists (select 1 from pragma_index_list(t.name) i where i.origin = 'pk')`);
  const keys = await query(`
    select t.name as tab, f."table" as target, lower(f.on_delete) as on_delete,
      group_concat(f."from" || '>' || f."to") as cols
    from sqlite_schema t join pragma_foreign_key_list(t.name) f where t.type = 'table'
    group by t.name, f.id`);
  return catalogue(columns, [...indexes, ...counting], keys);
}

async function postgresCatalogue({ query }: StorePlace): Promise<Catalogue> {
  const columns = await query(`
    select table_name as tab, column_name as col, replace(data_type, 'bigint', 'integer') as type,
      case is_nullable when 'NO' then 1 else 0 end as required
    from information_schema.columns where table_schema = current_schema()`);
  const indexes = await query(`
    select t.relname as tab, i.indisunique::int as uniq, (i.indpred is not null)::int as part,
      (select string_agg(a.attname, ',' order by k.place) from unnest(i.indkey) with ordinality k(number, place)
        join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number) as cols
    from pg_index i join pg_class t on t.oid = i.indrelid where t.relnamespace = current_schema()::regnamespace`);
  const keys = await query(`
    select t.relname as tab, r.relname as target, case c.confdeltype when 'c' then 'cascade' else 'no action' end as on_delete,
      (select string_agg(a.attname || '>' || b.attname, ',' order by k.place)
        from unnest(c.conkey, c.confkey) with ordinality k(here, there, place)
        join pg_attribute a on a.attrelid = t.oid and a.attnum = k.here
        join pg_attribute b on b.attrelid = r.oid and b.attnum = k.there) as cols
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class r on r.oid = c.confrelid
    where c.contype = 'f' and t.relnamespace = current_schema()::regnamespace`);
  return catalogue(columns, indexes, keys);
}

type Rows = readonly Record<string, unknown>[];

function catalogue(columns: Rows, indexes: Rows, keys: Rows): Catalogue {
  const tables: Record<string, Record<string, string>> = {};
  for (const { tab, col, type, required } of columns) {
    const table = String(tab);
    tables[table] = { ...tables[table], [String(col)]: `${type}${required ? ' not null' : ''}` };
  }
  return {
    tables,
    indexes: indexes
      .map(({ tab, uniq, part, cols }) => `${tab}(${cols})${uniq ? ' unique' : ''}${part ? ' partial' : ''}`)
      .toSorted(),
    foreignKeys: keys.map(({ tab, target, on_delete, cols }) => `${tab}>${target}(${cols}) ${on_delete}`).toSorted(),
  };
}

import type { Migration } from '../migrations.ts';

/** The stable code of an answer to a command, and its data. Answers of before have neither. */
export const answerCodes: Migration = {
  name: '0010-answer-codes',
  up: async (db, types) => {
    await db.schema.alterTable('commands').addColumn('result_code', types.text).execute();
    await db.schema.alterTable('commands').addColumn('result_data_json', types.text).execute();
  },
};

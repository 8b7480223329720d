// tables.mjs MODULES: reads a JSON object {reader, inputs} from the standard input, and writes the
// rows that the reader finds as JSON lists: the number of the input, then the values. Integers are
// texts, so that none loses digits.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const load = (file) => import(pathToFileURL(path.join(modules, file)).href);
const text = (v) => (typeof v === "bigint" || typeof v === "number" ? String(v) : v instanceof Date ? v.toISOString() : (v ?? null));
let lines = [];
const row = (i, values) => {
  lines.push(JSON.stringify([String(i), ...values.map(text)]));
  if (lines.length > 10000) flush();
};
const flush = () => {
  if (lines.length) fs.writeSync(1, lines.join("\n") + "\n");
  lines = [];
};

const readers = {
  // Statements of SQL.
  async duckdb(inputs) {
    const { DuckDBInstance } = (await load("@duckdb/node-api/lib/index.js")).default;
    const db = await (await DuckDBInstance.create(":memory:")).connect();
    for (const [i, statement] of inputs.entries()) {
      const result = await db.runAndReadAll(statement);
      for (const r of result.getRowsJson()) row(i, r);
    }
  },
  // Files of Parquet.
  async hyparquet(inputs) {
    const { parquetReadObjects, parquetMetadata } = await load("hyparquet/src/index.js");
    const { compressors } = await load("hyparquet-compressors/src/index.js");
    for (const [i, name] of inputs.entries()) {
      const b = fs.readFileSync(name);
      const file = b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength);
      const columns = parquetMetadata(file).schema.slice(1).map((s) => s.name);
      for (const r of await parquetReadObjects({ file, compressors })) row(i, columns.map((c) => (r[c] && typeof r[c] === "object" ? JSON.stringify(r[c]) : r[c])));
    }
  },
  // Files of Arrow.
  async arrow(inputs) {
    const { tableFromIPC } = await load("apache-arrow/Arrow.node.mjs");
    for (const [i, name] of inputs.entries()) {
      const table = tableFromIPC(fs.readFileSync(name));
      const columns = table.schema.fields.map((f) => table.getChild(f.name));
      for (let k = 0; k < table.numRows; k++) row(i, columns.map((c) => c.get(k)));
    }
  },
};

const { reader, inputs } = JSON.parse(fs.readFileSync(0, "utf8"));
await readers[reader](inputs);
flush();

// Reads binary frames by the layout that the header of the geometry declares (see wire/layout.py): no script knows an offset.

// Rows of numbers with named columns.
export class Table {
  constructor(values, { width, columns }) {
    this.values = values;
    this.width = width;
    this.columns = columns;
  }

  get count() {
    return this.values.length / this.width;
  }

  // The numbers of a column in one row.
  get(row, column) {
    const [start, stop] = this.columns[column];
    return this.values.subarray(row * this.width + start, row * this.width + stop);
  }

  // The number of a column that has one.
  number(row, column) {
    return this.values[row * this.width + this.columns[column][0]];
  }

  // The numbers of a column in all rows, one after the other.
  all(column) {
    const [start, stop] = this.columns[column];
    return this.values.filter((_, k) => k % this.width >= start && k % this.width < stop);
  }
}

// A frame as an object: the numbers of its header by name, and its tables by name.
export function readFrame(row, layout) {
  const frame = Object.fromEntries(layout.header.map((name, k) => [name, row[k]]));
  let at = layout.header.length;
  for (const table of layout.tables) {
    const end = at + table.width * frame[table.name];
    frame[table.name] = new Table(row.subarray(at, end), table);
    at = end;
  }
  return frame;
}

// The table of bodies from its numbers alone.
export function bodiesTable(values, layout) {
  return new Table(Float32Array.from(values), layout.tables.find((table) => table.name === "bodies"));
}

// One row of the table of marks as an object: its kind by name, its number and tone, and the parts of its kind by name.
export function readMark(marks, row, layout) {
  const { kind, parts } = layout.marks[marks.number(row, "kind") - 1];
  const values = marks.get(row, "values");
  const mark = { kind, number: marks.number(row, "number"), tone: marks.number(row, "tone") };
  for (const [name, [start, stop]] of Object.entries(parts)) {
    mark[name] = stop - start === 1 ? values[start] : values.subarray(start, stop);
  }
  return mark;
}

// Files and folders that are dropped on the page or chosen: several are packed into one archive.

import { zipped } from "poise-studio/animate/zip.js";

// Give the files that are dropped anywhere on the page, or chosen in the file dialog, as pairs of a path and a file.
export function acceptFiles(signal, input, open) {
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  window.addEventListener("dragover", (event) => isFile(event) && event.preventDefault(), { signal });
  window.addEventListener(
    "drop",
    async (event) => {
      if (!isFile(event)) return;
      event.preventDefault();
      const files = await dropped(event.dataTransfer);
      if (files.length) open(files);
    },
    { signal },
  );
  input.addEventListener(
    "change",
    () => {
      if (input.files.length) open([...input.files].map((file) => [file.name, file]));
      input.value = "";
    },
    { signal },
  );
}

// All files of a drop; those of folders have their path in the folder. Entries can be asked for during the event only.
async function dropped({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...files].map((file) => [file.name, file]);
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader();
  const entries = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at most
    if (!batch.length) break;
    entries.push(...batch);
  }
  return (await Promise.all(entries.map(filesOf))).flat();
}

// The name and the data to send: a single file as it is, several as an archive that is called after their folder.
export async function packed(files) {
  if (files.length === 1) return [files[0][1].name, files[0][1]];
  const parts = await Promise.all(files.map(async ([path, file]) => [path, new Uint8Array(await file.arrayBuffer())]));
  const folder = files[0][0].includes("/") ? files[0][0].split("/")[0] : "files";
  return [`${folder}.zip`, zipped(parts)];
}

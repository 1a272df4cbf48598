// A file of the server, to keep; or what it says why there is none.

export async function keep(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) return say(await answer.text());
    const name = answer.headers.get("Content-Disposition")?.match(/filename="?([^"]+)"?/)?.[1] ?? "poise";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch {
    say("The studio does not answer.");
  }
  return undefined;
}

function say(message) {
  Quasar.Notify.create({ type: "negative", message, position: "top", multiLine: true, timeout: 10_000 });
}

// Downloads a file from the server, or shows the server's reason why there is none.

export async function keep(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) return showError(await answer.text());
    const name = answer.headers.get("Content-Disposition")?.match(/filename="?([^"]+)"?/)?.[1] ?? "poise";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch {
    showError("The studio does not answer: is it still running in the terminal?");
  }
  return undefined;
}

function showError(message) {
  Quasar.Notify.create({ type: "negative", message, position: "top", multiLine: true, timeout: 10_000, closeBtn: "Close" });
}

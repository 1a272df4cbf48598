// Saves the viewport as a picture.

export function savePicture() {
  const stage = window.poiseStage;
  stage.quality.finest();
  stage.render();
  const link = document.createElement("a");
  link.href = stage.canvas.toDataURL("image/png");
  link.download = `${stage.figure?.name ?? "poise"}.png`;
  link.click();
}

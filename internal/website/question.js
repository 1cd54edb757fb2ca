// A question's page grades the forecast when the reader asks for the run.
{
  const form = document.getElementById("forecast");
  const answer = document.getElementById("answer");
  const button = form.querySelector("button");
  const sure = { 1: "a guess", 2: "fairly sure", 3: "certain" };
  answer.hidden = true;
  button.hidden = false;

  // gradeOf returns the grade of the choices in a fieldset. In a set one mistake is close.
  const gradeOf = (box) => {
    const choices = [...box.querySelectorAll("[data-grade]")];
    const chosen = choices.filter((c) => c.checked);
    if (box.dataset.set === "true") {
      const mistakes = choices.filter((c) => c.checked !== (c.dataset.grade === "right")).length;
      return mistakes === 0 ? "right" : mistakes === 1 && choices.length > 2 ? "close" : "wrong";
    }
    return chosen.length === 0 ? "none" : chosen[0].dataset.grade;
  };
  const words = { right: "Right", close: "Partly right", wrong: "Wrong", none: "No forecast" };

  let wasAsked = false; // whether a reader without a forecast was asked for one
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const boxes = [...form.querySelectorAll("fieldset")];
    const hasForecast = boxes.some((box) => box.dataset.set === "true" || box.querySelector("[data-grade]:checked")); // none of a set is a forecast
    if (!hasForecast && !wasAsked) {
      wasAsked = true;
      boxes[0].querySelector(".grade").textContent = "Choose what you expect, or press the button again to see the run without a forecast.";
      return;
    }
    let right = 0;
    for (const box of boxes) {
      const grade = gradeOf(box);
      if (grade === "right") right++;
      const confidence = box.querySelector(".sure input:checked");
      const remark = [...box.querySelectorAll("[data-grade]")].find((c) => c.checked && c.dataset.remark);
      let text = words[grade];
      if (grade !== "none" && confidence) text += ", " + sure[confidence.value];
      if (grade === "close" && remark) text += ": " + remark.dataset.remark;
      box.querySelector(".grade").textContent = text + ".";
      for (const choice of box.querySelectorAll("[data-grade]")) {
        choice.closest("label").classList.toggle("right", choice.dataset.grade === "right");
        choice.closest("label").classList.toggle("wrong", choice.checked && choice.dataset.grade === "wrong");
        choice.disabled = true;
      }
      for (const choice of box.querySelectorAll(".sure input")) choice.disabled = true;
    }
    button.disabled = true;
    answer.hidden = false;
    answer.open = true;
    answer.querySelector("summary").focus();
    if (!hasForecast) return; // nothing to count
    const all = progress.read();
    all.questions[form.dataset.question] = { right, of: boxes.length };
    progress.write(all);
  });
}

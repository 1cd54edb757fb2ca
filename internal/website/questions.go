package website

import "github.com/locksim/locksim/internal/quiz"

// QuestionPages runs all questions, and returns a page for each, and a page with the list of
// them. next is called before each.
func (s Site) QuestionPages(next func(name string)) ([]Page, error) {
	var pages []Page
	list := questionList{Topics: quiz.Topics()}
	var all []*quiz.Item
	for _, t := range list.Topics {
		all = append(all, t.Items...)
	}
	i := 0
	for _, t := range list.Topics {
		for _, item := range t.Items {
			next(item.Name)
			card, err := quiz.OfItem(item, t).Card(true)
			if err != nil {
				return nil, err
			}
			data := questionPage{Card: card, Topic: t.Title}
			if i > 0 {
				data.Before = all[i-1]
			}
			if i+1 < len(all) {
				data.After = all[i+1]
			}
			i++
			for _, name := range card.Scenarios {
				if s.Scenarios[name] {
					data.Stories = append(data.Stories, part{To: "../" + ScenariosFolder + "/" + name + ".html", Title: name})
				}
				if s.HasPlayground {
					data.Plays = append(data.Plays, part{To: "../" + PlaygroundFolder + "/index.html#scenario=" + name, Title: name})
				}
			}
			page := s.page("../", item.Title, fill("question.html", data))
			page.Script = script("progress.js", "question.js")
			pages = append(pages, Page{QuestionsFolder + "/" + item.Name + ".html", page.HTML()})
		}
	}
	page := s.page("../", "Questions", fill("questions.html", list))
	page.Script = script("progress.js")
	return append(pages, Page{QuestionsFolder + "/index.html", page.HTML()}), nil
}

// A questionList is the data of the page that lists the questions.
type questionList struct{ Topics []quiz.Topic }

// A questionPage is the data of a question's page.
type questionPage struct {
	*quiz.Card
	Topic         string
	Before, After *quiz.Item
	// Stories are the pages of the scenarios that answer the question, and Plays the same
	// scenarios in the playground.
	Stories, Plays []part
}

// script returns files of the folder html as one script.
func script(names ...string) string {
	all := ""
	for _, name := range names {
		all += asset(name)
	}
	return all
}
